
export INTERVAL='30s'
export REGION='Clinic North'
export ZIP='00501'
